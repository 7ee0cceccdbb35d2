<?xml version="1.0" encoding="UTF-8"?>
<map version="1.10" tiledversion="1.10.2" orientation="orthogonal" renderorder="right-down" width="12" height="8" tilewidth="16" tileheight="16" infinite="0" nextlayerid="3" nextobjectid="1">
 <tileset firstgid="1" source="land.tsx"/>
 <tileset firstgid="9" name="stones" tilewidth="16" tileheight="16" tilecount="1" columns="1">
  <image source="stone.png" width="16" height="16"/>
 </tileset>
 <layer id="1" name="Land" width="12" height="8">
  <data encoding="csv">
6,6,6,6,6,6,6,6,6,6,6,6,
6,1,1,1,1,1,1,1,1,1,1,6,
6,1,1,3,3,1,1,2,2,2,1,6,
6,1,1,3,3,3,1,2,2,2,1,6,
6,1,1,1,1,1,4,4,1,1,1,6,
6,1,1,1,1,1,4,4,5,5,1,6,
6,1,1,1,1,1,4,4,1,1,1,6,
6,6,6,6,6,6,6,6,6,6,6,6
</data>
 </layer>
 <layer id="2" name="Walls" width="12" height="8">
  <data encoding="base64" compression="zlib">
   eNpjYBiZgBMJDyQAAA9sABw=
  </data>
 </layer>
</map>

%%%%
<?xml version="1.0" encoding="UTF-8"?>
<tileset version="1.10" tiledversion="1.10.2" name="land" tilewidth="16" tileheight="16" tilecount="8" columns="8">
 <image source="land.png" width="128" height="16"/>
 <tile id="0"><properties><property name="terrain" value="ground"/></properties></tile>
 <tile id="1">
  <properties>
   <property name="cost" type="int" value="4"/>
   <property name="terrain" value="ground"/>
  </properties>
 </tile>
 <tile id="2" type="trees"/>
 <tile id="3" type="water"/>
 <tile id="4"><properties><property name="terrain" value="swamp"/></properties></tile>
 <tile id="5"><properties><property name="terrain" value="out_of_bounds"/></properties></tile>
</tileset>
